"""The desktop window: PySide6 and qasync live here and in `devflow.app.desktop`, nowhere else."""

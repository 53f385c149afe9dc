"""The pages of the window, one package or module each; `window.MainWindow` is given factories for them."""

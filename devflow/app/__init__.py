"""Where everything is put together: paths, languages, the services, and the window around them."""

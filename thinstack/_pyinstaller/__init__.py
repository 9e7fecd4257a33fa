"""What PyInstaller asks for a hook (entry point `pyinstaller40`)."""


def get_hook_dirs() -> list[str]:
    """The folder of `hook-thinstack.py`."""
    return list(__path__)

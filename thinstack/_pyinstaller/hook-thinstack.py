"""Tells PyInstaller that thinstack reads files of its own: the bundled model, and tables."""

from PyInstaller.utils.hooks import collect_data_files

datas = collect_data_files("thinstack")

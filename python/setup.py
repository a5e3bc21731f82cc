"""The wheel of a library that is built already. Its version and the platform that it needs stand in files that `make wheel`
writes beside this one: version.txt and platform.txt."""

import pathlib

from setuptools import Distribution as _Distribution, setup
from wheel.bdist_wheel import bdist_wheel

here = pathlib.Path(__file__).parent


class Wheel(bdist_wheel):
    """A wheel for any Python 3, on one platform."""

    def get_tag(self):
        return "py3", "none", (here / "platform.txt").read_text().strip()


class Distribution(_Distribution):
    """The library is of one kind of machine."""

    def has_ext_modules(self):
        return True


setup(version=(here / "version.txt").read_text().strip(), cmdclass={"bdist_wheel": Wheel}, distclass=Distribution)

"""The asset store: files that models and metrics need, fetched once and checked ever after.

An asset is a folder of files known by its digest: a TOML file in `_assets` pins its content and
names the places that have it (`asset`). It is fetched from the first place that gives it (`fetch`),
converted where that saves time later (`convert`), published whole or not at all (`folder`), and
carried to machines without a network in one tar file (`archive`). Standard library only.
"""

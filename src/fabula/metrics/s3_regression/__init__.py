"""S3 learns its value: features of a story beside its reference, and the regressor on them."""

"""Runs in shards: stories cut into pieces that are surveyed and scored one by one, by anybody.

`run` is the driver: it cuts (`plan`), lets a crew work (`crew`: processes of this machine, or
`ray_crew`: actors of a cluster) and puts together what they left. `worker` is what a worker does
with a shard, `states` what is gathered of batches, `parts` the files that are left.
"""

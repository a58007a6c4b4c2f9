"""How often is the gate wrong? Measured here, part by part, each resumable.

===========  ====================================================================================
part         what it does
===========  ====================================================================================
record       wall times of many processes of one build, and of really slowed builds, in blocks
resample     the gate's own statistics on recorded blocks: hundreds of gates in seconds
aa           whole gates of a commit against itself, end to end
neutral      whole gates of commits that change text and no work, end to end
inject       real extra work of known size in copies of the driver, and the gate end to end
others       asv, pyperf and a bare instruction count on the same commits
report       rates with their intervals: summary.json, calibration.md, a picture
===========  ====================================================================================

`benchproof.error_rates` gives the gate the rates that it prints beside its verdict.
"""

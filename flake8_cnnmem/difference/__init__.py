"""What changed between two revisions of a project: git's objects in, the models that differ out.

`repository` speaks to git, `reach` says what a change cannot touch, `revisions` evaluates the models of both sides,
`pairs` says which belong together, `changes` what makes them differ.
"""

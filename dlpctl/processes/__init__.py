"""Child processes: how one is started, limited, confined, fed, timed and ended, and the declared
schema of all messages to and from it. Change it here for every process of dlpctl at once.
"""

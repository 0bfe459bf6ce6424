-- Sums that were reported up to the limit of 64 bits would make every further check of their day
-- fail. The bound is 2^53 - 1.
UPDATE daily SET
    bytes = min(bytes, 9007199254740991),
    bytes_protected = min(bytes_protected, 9007199254740991),
    exposures = min(exposures, 9007199254740991);
UPDATE daily_types SET found = min(found, 9007199254740991);

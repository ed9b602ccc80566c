plan.program @a in_flight 2 {}
plan.program @b in_flight 2 {}

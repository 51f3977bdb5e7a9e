/** The tables of the database. A column's unit is in its name. */
export interface Schema {
  solvers: {
    chain_id: number
    /** Lower case. */
    address: string
    /** `NO_ENDPOINT` when the solver has only registered by sessions. */
    endpoint_url: string
    name: string
    registered_at_ms: number
    /** 1 when the bond sufficed at the last read, otherwise 0. */
    is_bonded: number
    /** Time of the first read of an insufficient bond; null while it suffices. */
    unbonded_since_ms: number | null
    /** The last session (docs/decisions.md, D18); null when the solver has had none. */
    session_id: string | null
    /** The replica that held the last session; null when the solver has had none. */
    session_replica: string | null
    /** Time at which the session ended; null while it lasts. */
    session_ended_at_ms: number | null
  }

  /** The last accepted timestamp of each solver. It outlives the registration (docs/decisions.md, D5). */
  solver_timestamps: {
    chain_id: number
    address: string
    last_timestamp_ms: number
  }

  /** The addresses that the operator has blocked or allowed. */
  listed_solvers: {
    list: 'blocked' | 'allowed'
    /** 0 for every chain. */
    chain_id: number
    /** Lower case. */
    address: string
    listed_at_ms: number
  }

  /** The operator's API keys (docs/decisions.md, D27). */
  api_keys: {
    id: string
    label: string
    /** SHA-256 of the secret, in hex. */
    digest: string
    /** JSON. */
    limits: string
    created_at_ms: number
    changed_at_ms: number
    expires_at_ms: number | null
    revoked_at_ms: number | null
    /** Such as `2026-11-27`. */
    last_used_day: string | null
  }

  /** One row with the id of the log and its ends. */
  event_log: {
    log_id: string
    /** Sequence of the last entry. Writers update it before they add entries, and so wait for each other. */
    last_sequence: number
    /** Sequence of the last entry that retention has passed; 0 when none. */
    pruned_sequence: number
  }

  /** The published events and their reversions, in order. */
  events: {
    sequence: number
    chain_id: number
    block_number: number
    block_hash: string
    log_index: number
    type: string
    /** JSON of the fields that only this type has; amounts are decimal strings. */
    details: string
    order_id: string
    user: string
    solver: string | null
    /** 1 for an event on the chain, as far as is known; 0 for a removed event, for one of another contract, and for reversions. */
    is_canonical: number
    published_at_ms: number
    transaction_hash: string
    /** Unix time in seconds. */
    block_time: number
  }

  /** The orders of the canonical events. They stay after their events have left the log. */
  orders: {
    chain_id: number
    order_id: string
    /** Position of the first event, by which lists are sorted. */
    block_number: number
    log_index: number
    state: string
    user: string
    solver: string | null
    /** JSON array (see order-rows.ts); amounts are decimal strings. Null until the contract could be read. */
    terms: string | null
    /** JSON array (see order-rows.ts). */
    steps: string
  }

  /** The orders of each solver by hour, which change in the transactions that change the orders (see order-hours.ts). */
  solver_order_hours: {
    chain_id: number
    solver: string
    /** Unix time in whole hours. */
    hour: number
    /** Orders whose first step was in this hour. */
    orders: number
    /** Steps in this hour; also `settled` and `refunded`. */
    deposited: number
    settled: number
    refunded: number
  }

  /** What solvers did in an hour, as one process has counted it. Statistics are sums over all processes (docs/decisions.md, D20). */
  solver_hours: {
    chain_id: number
    /** Unix time in whole hours. */
    hour: number
    /** Lower case. */
    solver: string
    /** A UUID of the row: a process has one row, or more (see solver-hour-store.ts). */
    writer: string
    quoted: number
    declined: number
    invalid: number
    failed: number
    late: number
    soft_deadline: number
    won: number
    won_alone: number
    /** JSON array (see packages/protocol/src/solvers/solver-statistics.ts). */
    response_times: string
  }

  /** The nonces of offers that went to callers, and of cancellations (see offer-nonce-store.ts). */
  offer_nonces: {
    chain_id: number
    /** Empty for a cancellation. */
    order_id: string
    solver: string
    /** Decimal. */
    nonce: string
    /** Unix time in seconds. */
    until: number
    /** 1 when the contract refuses the nonce, otherwise 0. */
    used: number
    offered_at_ms: number
  }

  /** The first block of a chain that was read, and the contract that was read. */
  chain_positions: {
    chain_id: number
    /** Lower case. */
    settlement: string
    first_block: number
  }

  /** The last blocks of a chain whose events are in the log. The highest is the chain's position. */
  chain_headers: {
    chain_id: number
    number: number
    hash: string
    parent_hash: string
  }

  /** The current epoch of each chain. Only the leader that began it may write the chain's events. */
  chain_leaders: {
    chain_id: number
    /** Counts up by one each time that a leader begins. */
    epoch: number
  }

  /** The bonds of solvers at the last read, kept for restarts and for the other replicas. Amounts are decimal, in the bond token's smallest unit. */
  solver_bonds: {
    chain_id: number
    address: string
    free_bond: string
    total_bond: string
  }

  /** One row with the key that encrypts quote ids for solvers. */
  record_keys: {
    /** 16 bytes in hex. */
    record_key: string
  }

  /** The leases of the replicas, by the clock of the database. A file has none. */
  replicas: {
    /** A UUID of one process. */
    id: string
    /** Since when the replica has renewed its lease without a gap. */
    renewed_since_ms: number
    expires_at_ms: number
    /** The origin at which other replicas ask this one; null when they cannot. */
    url: string | null
  }

  /** One row with the key that signs requests between replicas. */
  replica_keys: {
    /** 32 bytes in hexadecimal. */
    replica_key: string
  }
}

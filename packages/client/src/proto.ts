/** The generated code of the protos: messages and services for any Connect transport. */
export * from '../../../gen/aggregator/v1/chain_health_pb.js'
export * from '../../../gen/aggregator/v1/chain_pb.js'
export * from '../../../gen/aggregator/v1/event_pb.js'
export * from '../../../gen/aggregator/v1/order_pb.js'
export * from '../../../gen/aggregator/v1/quote_pb.js'
export * from '../../../gen/aggregator/v1/solver_pb.js'

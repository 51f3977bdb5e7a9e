import type { Topic } from '../store/topics.js'

/** A library of schemas would take 14 MB of each process. */
type Check = (value: unknown) => boolean

/** Whether a message has the form of its topic. Others than replicas may reach the channels (docs/security.md). */
export function fitsTopic(topic: Topic, text: string): boolean {
  try {
    return SHAPES[topic](JSON.parse(text))
  } catch {
    return false
  }
}

const isInteger: Check = Number.isSafeInteger
const isText: Check = (value) => typeof value === 'string'
const matches =
  (pattern: RegExp): Check =>
  (value) =>
    typeof value === 'string' && pattern.test(value)
const optional =
  (check: Check): Check =>
  (value) =>
    value === undefined || check(value)
const listOf =
  (check: Check): Check =>
  (value) =>
    Array.isArray(value) && value.every(check)
const oneOf =
  (...checks: readonly Check[]): Check =>
  (value) =>
    checks.some((check) => check(value))
const objectOf =
  (members: Readonly<Record<string, Check>>): Check =>
  (value) =>
    typeof value === 'object' &&
    value !== null &&
    Object.entries(members).every(([name, check]) => check((value as Record<string, unknown>)[name]))

const isHash = matches(/^0x[0-9a-f]{64}$/)
const isHead = objectOf({ number: isInteger, hash: isHash, parentHash: isHash, timestampMs: isInteger })
const isSnapshot = objectOf({
  status: matches(/^(ok|syncing|down)$/),
  head: optional(isHead),
  last: optional(objectOf({ number: isInteger, hash: isHash })),
  published: optional(isInteger),
  unread: optional(
    objectOf({ block: isInteger, member: optional(isText), endpoint: isText, reason: isText }),
  ),
})

const SHAPES: Readonly<Record<Topic, Check>> = {
  events: isInteger,
  solvers: isInteger,
  bonds: isInteger,
  nonces: oneOf(
    objectOf({ chainId: isInteger, orderIds: listOf(isHash) }),
    objectOf({
      chainId: isInteger,
      solver: matches(/^0x[0-9a-fA-F]{40}$/),
      used: listOf(matches(/^\d{1,78}$/)),
    }),
  ),
  chains: oneOf(
    objectOf({ chainId: isInteger, snapshot: isSnapshot }),
    objectOf({ chainId: isInteger, invalidated: oneOf(matches(/^all$/), listOf(isHash)) }),
  ),
}

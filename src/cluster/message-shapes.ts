import type { Topic } from '../store/topics.js'

type Check = (value: unknown) => boolean

/** Whether a message has the form of its topic. Others than replicas may reach the channels (docs/security.md). */
export function fitsTopic(topic: Topic, text: string): boolean {
  return SHAPES[topic](text)
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
const isNumber = matches(/^\d{1,16}$/)

const isHead = objectOf({
  number: isInteger,
  hash: isHash,
  parentHash: isHash,
  timestampMs: isInteger,
  logsBloom: optional(matches(/^0x[0-9a-f]{512}$/)),
  transactions: optional(isInteger),
})
const isSnapshot = objectOf({
  status: matches(/^(ok|syncing|down)$/),
  head: optional(isHead),
  last: optional(objectOf({ number: isInteger, hash: isHash })),
  published: optional(isInteger),
  unread: optional(
    objectOf({ block: isInteger, member: optional(isText), endpoint: isText, reason: isText }),
  ),
})

const isOfNonces = oneOf(
  objectOf({ chainId: isInteger, orderIds: listOf(isHash) }),
  objectOf({
    chainId: isInteger,
    solver: matches(/^0x[0-9a-fA-F]{40}$/),
    used: listOf(matches(/^\d{1,78}$/)),
  }),
)
const isOfChains = oneOf(
  objectOf({ chainId: isInteger, snapshot: isSnapshot }),
  objectOf({ chainId: isInteger, invalidated: oneOf((value) => value === 'all', listOf(isHash)) }),
)

function inJson(check: Check): (text: string) => boolean {
  return (text) => {
    try {
      return check(JSON.parse(text))
    } catch {
      return false
    }
  }
}

const SHAPES: Readonly<Record<Topic, (text: string) => boolean>> = {
  events: isNumber,
  solvers: isNumber,
  bonds: isNumber,
  nonces: inJson(isOfNonces),
  chains: inJson(isOfChains),
}

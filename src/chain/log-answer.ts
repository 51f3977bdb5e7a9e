import type { Address, Hex } from '../domain/hex.js'
import { InconsistentAnswerError } from './inconsistent-answer.js'
import type { RawLog } from './order-events.js'

/**
 * Checks what a node has answered to `eth_getLogs` for one contract.
 * @param address lower case
 * @returns the logs, without those that came more than once
 * @throws InconsistentAnswerError when one is malformed, has been removed by a reorganisation or belongs to another
 *   contract, or when two are said to be at the same place
 */
export function checkedLogs(answer: unknown, address: Address): RawLog[] {
  if (!Array.isArray(answer)) throw new InconsistentAnswerError('logs came as something else')
  const byPlace = new Map<string, RawLog>()
  for (const log of answer as RawLog[]) {
    if (!isWellFormed(log))
      throw new InconsistentAnswerError('a log came with fields that are not those of a log')
    if (log.removed === true) throw new InconsistentAnswerError('a log came that has been removed')
    if (!isOf(address, log)) throw new InconsistentAnswerError('a log of another contract came')
    const place = placeOf(log)
    const peek = byPlace.get(place)
    if (peek !== undefined && !isSame(peek, log))
      throw new InconsistentAnswerError('two logs came for one place')
    byPlace.set(place, log)
  }
  return [...byPlace.values()]
}

const QUANTITY = /^0x[0-9a-f]{1,13}$/i
const WORD = /^0x[0-9a-f]{64}$/i
const BYTES = /^0x([0-9a-f]{2})*$/i
/** An event has at most four topics. */
const MAX_TOPICS = 4

/** Whether all fields of a log that are read have the types that the JSON-RPC specification gives them. */
function isWellFormed(log: Partial<Record<keyof RawLog, unknown>> | null): boolean {
  if (typeof log !== 'object' || log === null) return false
  const { address, blockNumber, blockHash, logIndex, topics, data } = log
  const areTopics =
    Array.isArray(topics) && topics.length <= MAX_TOPICS && topics.every((topic) => is(WORD, topic))
  const isPlaced = is(QUANTITY, blockNumber) && is(WORD, blockHash) && is(QUANTITY, logIndex)
  return typeof address === 'string' && isPlaced && areTopics && is(BYTES, data)
}

function is(pattern: RegExp, value: unknown): boolean {
  return typeof value === 'string' && pattern.test(value)
}

/** Whether a log is of a contract. @param address lower case */
export function isOf(address: Address, log: Pick<RawLog, 'address'>): boolean {
  return log.address.toLowerCase() === address
}

/** Whether all of some logs are among others. */
export function includesLogs(all: readonly RawLog[], some: readonly RawLog[]): boolean {
  return logsMissingIn(all, some).length === 0
}

/** Those of some logs that are not among others. */
export function logsMissingIn(all: readonly RawLog[], some: readonly RawLog[]): RawLog[] {
  const byPlace = new Map(all.map((log) => [placeOf(log), log]))
  return some.filter((log) => {
    const other = byPlace.get(placeOf(log))
    return other === undefined || !isSame(other, log)
  })
}

function placeOf({ blockHash, logIndex }: RawLog): string {
  return `${blockHash} ${Number(logIndex)}`
}

function isSame(a: RawLog, b: RawLog): boolean {
  return a.data === b.data && a.topics.join() === b.topics.join()
}

/** The first topics of some logs. */
export function firstTopics(logs: readonly RawLog[]): ReadonlySet<Hex | undefined> {
  return new Set(logs.map(({ topics }) => topics[0]))
}

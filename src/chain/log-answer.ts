import type { RawLog } from '../../packages/protocol/src/settlement.js'
import { type Address, type Hex, isQuantity } from '../domain/hex.js'
import { InconsistentAnswerError } from './inconsistent-answer.js'

/**
 * Checks a node's answer to `eth_getLogs` for one contract.
 * @param address lower case
 * @returns the logs without duplicates
 * @throws InconsistentAnswerError when a log is malformed, was removed by a reorganisation or belongs to another
 *   contract, or when two logs have one position
 */
export function checkedLogs(answer: unknown, address: Address): RawLog[] {
  if (!Array.isArray(answer)) throw new InconsistentAnswerError('the answer is not an array of logs')
  const byPosition = new Map<string, RawLog>()
  for (const log of answer as RawLog[]) {
    if (!isWellFormed(log)) throw new InconsistentAnswerError('a log has fields of a wrong type')
    if (log.removed === true) throw new InconsistentAnswerError('a log was removed by a reorganisation')
    if (!isOf(address, log)) throw new InconsistentAnswerError('a log belongs to another contract')
    const position = positionOf(log)
    const known = byPosition.get(position)
    if (known !== undefined && !isSame(known, log))
      throw new InconsistentAnswerError('two logs have the same position')
    byPosition.set(position, log)
  }
  return [...byPosition.values()]
}

const WORD = /^0x[0-9a-f]{64}$/i
const BYTES = /^0x([0-9a-f]{2})*$/i
/** An event has at most four topics. */
const MAX_TOPICS = 4

/** Whether all fields that the service reads have the types of the JSON-RPC specification. */
function isWellFormed(log: Partial<Record<keyof RawLog, unknown>> | null): boolean {
  if (typeof log !== 'object' || log === null) return false
  const { address, blockNumber, blockHash, transactionHash, logIndex, topics, data } = log
  const areTopics =
    Array.isArray(topics) && topics.length <= MAX_TOPICS && topics.every((topic) => is(WORD, topic))
  const isPlaced =
    isQuantity(blockNumber) && is(WORD, blockHash) && is(WORD, transactionHash) && isQuantity(logIndex)
  return typeof address === 'string' && isPlaced && areTopics && is(BYTES, data)
}

function is(pattern: RegExp, value: unknown): boolean {
  return typeof value === 'string' && pattern.test(value)
}

/** Whether a log belongs to a contract. @param address lower case */
export function isOf(address: Address, log: Pick<RawLog, 'address'>): boolean {
  return log.address.toLowerCase() === address
}

/** Whether `all` includes all of `some`. */
export function includesLogs(all: readonly RawLog[], some: readonly RawLog[]): boolean {
  return logsMissingIn(all, some).length === 0
}

/** The logs of `some` that `all` does not include. */
export function logsMissingIn(all: readonly RawLog[], some: readonly RawLog[]): RawLog[] {
  const byPosition = new Map(all.map((log) => [positionOf(log), log]))
  return some.filter((log) => {
    const other = byPosition.get(positionOf(log))
    return other === undefined || !isSame(other, log)
  })
}

function positionOf({ blockHash, logIndex }: RawLog): string {
  return `${blockHash} ${Number(logIndex)}`
}

function isSame(a: RawLog, b: RawLog): boolean {
  return a.data === b.data && a.transactionHash === b.transactionHash && a.topics.join() === b.topics.join()
}

/** The first topics of some logs. */
export function firstTopics(logs: readonly RawLog[]): ReadonlySet<Hex | undefined> {
  return new Set(logs.map(({ topics }) => topics[0]))
}

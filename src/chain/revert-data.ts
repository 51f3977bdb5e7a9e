import type { Hex } from '../domain/hex.js'

/** A revert in a node's answer. */
export interface Revert {
  /** What the contract reverted with; empty (`0x`) when it gave no data or the node does not return it. */
  readonly data: Hex
}

/** The code of a revert on geth, Erigon, Nethermind, reth, anvil and others. */
const REVERT_CODE = 3
/** The code of Nethermind and OpenEthereum, whose data is `Reverted 0x…`; its other data are other failures. */
const VM_ERROR_CODE = -32015
const DATA = /^(?:Reverted )?(0x[0-9a-f]*)$/i
/** Nodes with other codes begin their text so: geth before 1.9.15, Besu, Arbitrum, Hardhat, Ganache, Frontier. */
const REVERT_TEXT = /^(?:Error: )?(?:execution reverted|VM Exception while processing transaction: revert)/i

/**
 * Reads the revert from the `error` of a JSON-RPC answer, in the forms that nodes use.
 * @returns undefined for any other error, such as a failure of the node
 */
export function revertOf(error: unknown): Revert | undefined {
  if (!isRecord(error)) return undefined
  const { code, message } = error
  const data = dataOf(error.data)
  const isRevert =
    code === REVERT_CODE ||
    (code === VM_ERROR_CODE && data !== undefined) ||
    (typeof message === 'string' && REVERT_TEXT.test(message))
  return isRevert ? { data: data ?? '0x' } : undefined
}

/** Hardhat and Ganache nest the data in an object. */
function dataOf(data: unknown): Hex | undefined {
  const text = isRecord(data) ? (data.data ?? data.result) : data
  return typeof text === 'string' ? (DATA.exec(text)?.[1]?.toLowerCase() as Hex | undefined) : undefined
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

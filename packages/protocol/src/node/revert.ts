import type { Hex } from '../values/hex.js'

/** A revert in a node's answer. */
export interface Revert {
  /** What the contract reverted with, lower case; empty (`0x`) when it gave no data or the node does not return it. */
  readonly data: Hex
}

/** A part of an error: the error itself, or one that it contains. */
type ErrorPart = Readonly<Record<string, unknown>>

/** The code of a revert on geth, Erigon, Nethermind, reth, anvil and others. */
export const REVERT_CODE = 3
/** The code of Nethermind and OpenEthereum, whose data is `Reverted 0x…`; its other data are other failures. */
const VM_ERROR_CODE = -32015
/** The code of Hardhat and Frontier, and that of every failure behind a provider in a page. Its text alone says nothing. */
const INTERNAL_CODE = -32603
const DATA = /^(?:Reverted )?(0x[0-9a-f]*)$/i
/** A selector and words: the data of `Error(string)`, `Panic(uint256)` and every custom error. */
const ERROR_DATA = /^0x[0-9a-f]{8}([0-9a-f]{64})*$/
/** Nodes with other codes begin their text so: geth before 1.9.15, Besu, Arbitrum, Hardhat, Ganache, Frontier. */
const REVERT_TEXT =
  /^(Error: )?((execution|transaction) reverted|VM Exception while processing transaction: revert)/i
const OVERFLOW = /^0x4e487b71.*11$/
const MAX_PARTS = 32
const INNER = ['cause', 'data', 'error', 'originalError']

/**
 * Finds the revert in an error: in the `error` of a JSON-RPC answer, or in what a provider, viem or another library made of
 * it. A revert has code 3, the data of an error of a contract, or the code and text of a node that reports reverts in its
 * own way.
 * @returns undefined for any other error, such as a failure of the node (docs/decisions.md, D22)
 */
export function revertOf(error: unknown): Revert | undefined {
  const parts = partsOf(error)
  // The longest: an outer part may have none.
  const [data] = parts
    .flatMap(({ data, result }) => [dataIn(data), dataIn(result)])
    .sort((one = '0x', other = '0x') => other.length - one.length)
  const isReported = ({ code, message }: ErrorPart) =>
    code === REVERT_CODE ||
    (code === VM_ERROR_CODE && data) ||
    (typeof code === 'number' && (code !== INTERNAL_CODE || data) && REVERT_TEXT.test(`${message}`))
  const bytes = data ?? '0x'
  return parts.some(isReported) || ERROR_DATA.test(bytes) ? { data: bytes } : undefined
}

/** Whether a contract has subtracted more than there was (`Panic(17)`). */
export function isOverflow(error: unknown): boolean {
  return OVERFLOW.test(revertOf(error)?.data ?? '')
}

/** An error and those inside of it, the outermost first: causes of viem, nested errors of nodes, wallets and ethers. */
export function partsOf(error: unknown): readonly ErrorPart[] {
  const parts: ErrorPart[] = []
  const add = (value: unknown) => {
    if (isObject(value) && parts.length < MAX_PARTS && !parts.includes(value)) parts.push(value)
  }
  add(error)
  for (const part of parts) for (const key of INNER) add(part[key])
  return parts
}

function isObject(value: unknown): value is ErrorPart {
  return typeof value === 'object' && value !== null
}

function dataIn(value: unknown): Hex | undefined {
  return typeof value === 'string' ? (DATA.exec(value)?.[1]?.toLowerCase() as Hex | undefined) : undefined
}

import { keccak256, toEventSelector } from 'viem'
import { settlementAbi } from '../../gen/contracts/settlement.js'
import type { RawLog } from '../../packages/protocol/src/settlement.js'
import type { RawHeader } from '../../src/chain/headers.js'
import type { Address, Hex } from '../../src/domain/hex.js'
import type { Random } from '../support/random.js'

/** A receipt in the form of `eth_getBlockReceipts`. */
export interface RawReceipt {
  readonly blockHash: Hex
  readonly logsBloom: Hex
  readonly logs: readonly RawLog[]
}

export interface ModelBlock {
  readonly number: number
  readonly hash: Hex
  readonly header: RawHeader
  readonly receipts: readonly RawReceipt[]
  /** The logs of the contract. */
  readonly logs: readonly RawLog[]
}

export const SETTLEMENT: Address = `0x${'5e'.repeat(20)}`
const OTHER_CONTRACT: Address = `0x${'0c'.repeat(20)}`
const ADDRESS_WORD: Hex = `0x${'11'.repeat(20).padStart(64, '0')}`
const FULL_BLOOM: Hex = `0x${'ff'.repeat(256)}`
/** One block of this number has a bloom with every bit, as full blocks nearly have. */
const FULL_BLOCK_INTERVAL = 12

const EVENTS = settlementAbi.filter((item) => item.type === 'event')
const topicOf = (name: 'Deposited' | 'Settled') =>
  toEventSelector(EVENTS.find((item) => item.name === name) as (typeof EVENTS)[number])
const DEPOSITED = topicOf('Deposited')
const SETTLED = topicOf('Settled')

/** The chain of a node, with consistent headers, logs and receipts. */
export function createModelChain(random: Random) {
  let serial = 0
  const byHash = new Map<Hex, ModelBlock>()
  let blocks: ModelBlock[] = []

  function makeLogs(number: number, hash: Hex): RawLog[] {
    return Array.from({ length: random.integer(0, 2) }, (_, logIndex) => {
      const isDeposit = random.integer(0, 1) === 0
      return {
        address: SETTLEMENT,
        blockNumber: toHex(number),
        blockHash: hash,
        transactionHash: word(serial * 10 + logIndex),
        logIndex: toHex(logIndex),
        topics: [isDeposit ? DEPOSITED : SETTLED, word(serial * 10 + logIndex), ADDRESS_WORD, ADDRESS_WORD],
        data: isDeposit ? `0x${'0'.repeat(5 * 64)}` : '0x',
      }
    })
  }

  function makeBlock(number: number, parentHash: Hex): ModelBlock {
    const hash = word(++serial)
    const logs = makeLogs(number, hash)
    const receipts: RawReceipt[] = [{ blockHash: hash, logsBloom: bloomOf(logs), logs }]
    if (random.integer(1, FULL_BLOCK_INTERVAL) === 1)
      receipts.push({ blockHash: hash, logsBloom: FULL_BLOOM, logs: [] })
    const logsBloom = receipts.some((receipt) => receipt.logsBloom === FULL_BLOOM)
      ? FULL_BLOOM
      : bloomOf([...logs, foreignLog(number, hash, logs.length)])
    if (logsBloom !== FULL_BLOOM) {
      const foreign = foreignLog(number, hash, logs.length)
      receipts.push({ blockHash: hash, logsBloom: bloomOf([foreign]), logs: [foreign] })
    }
    const header = { number: toHex(number), hash, parentHash, timestamp: toHex(number), logsBloom }
    const block = { number, hash, header, receipts, logs }
    byHash.set(hash, block)
    return block
  }

  function grow(count: number): void {
    for (let left = count; left > 0; left--)
      blocks.push(makeBlock(blocks.length, blocks.at(-1)?.hash ?? word(0)))
  }
  grow(1)

  return {
    grow,
    /** Replaces this number of last blocks, at most all but the first, by at least as many others. */
    reorganise(depth: number): void {
      const kept = Math.max(1, blocks.length - depth)
      const dropped = blocks.length - kept
      blocks = blocks.slice(0, kept)
      grow(dropped + random.integer(0, 3))
    },
    tip: () => blocks.at(-1) as ModelBlock,
    at: (number: number): ModelBlock | undefined => blocks[number],
    get: (hash: Hex) => byHash.get(hash),
    /** The last block of a fork that begins after a block and never becomes the chain. */
    forkFrom(number: number, length: number): ModelBlock {
      let last = blocks[number] as ModelBlock
      for (let left = length; left > 0; left--) last = makeBlock(last.number + 1, last.hash)
      return last
    },
    blocks: (from: number, to: number): readonly ModelBlock[] => blocks.slice(from, to + 1),
  }
}

export type ModelChain = ReturnType<typeof createModelChain>

/** A log of a contract that is not the settlement contract. */
function foreignLog(number: number, hash: Hex, index: number): RawLog {
  return {
    address: OTHER_CONTRACT,
    blockNumber: toHex(number),
    blockHash: hash,
    transactionHash: word(number),
    logIndex: toHex(index),
    topics: [word(7)],
    data: '0x',
  }
}

/** The bloom filter over the addresses and topics of some logs (Yellow Paper, section 4.3.1). */
function bloomOf(logs: readonly RawLog[]): Hex {
  let bits = 0n
  for (const value of logs.flatMap(({ address, topics }) => [address, ...topics])) {
    const hash = Buffer.from(keccak256(value, 'bytes'))
    for (const offset of [0, 2, 4]) bits |= 1n << BigInt(hash.readUInt16BE(offset) % 2048)
  }
  return `0x${bits.toString(16).padStart(512, '0')}`
}

export function toHex(number: number): Hex {
  return `0x${number.toString(16)}`
}

function word(number: number): Hex {
  return `0x${number.toString(16).padStart(64, '0')}`
}

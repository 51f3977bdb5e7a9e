import { pino } from 'pino'
import { expect, it } from 'vitest'
import { InconsistentAnswerError } from '../../../packages/protocol/src/node/parse-blocks.js'
import type { BlockHeader, ChainPosition } from '../../../packages/protocol/src/orders/block.js'
import { createOpenPosition, resyncRoot } from '../../../src/chain/sync/starting-block.js'
import { only } from '../../support/only.js'

const [OWN, OTHER] = [`0x${'5e'.repeat(20)}`, `0x${'7e'.repeat(20)}`] as const
const HEAD = 10

const header = (number: number): BlockHeader => ({
  number,
  hash: `0x${number.toString(16).padStart(64, '0')}`,
  parentHash: `0x${(number - 1).toString(16).padStart(64, '0')}`,
})

/** Opens the position of a chain twice, as two polls do. @returns the second one, where the log began, and the warnings */
async function open(startBlock: number | undefined, stored: ChainPosition | undefined) {
  const warnings: string[] = []
  const begun: [settlement: string, root: number][] = []
  const log = pino({ level: 'warn' }, { write: (line: string) => void warnings.push(JSON.parse(line).msg) })
  const eventSink = {
    open: async () => stored,
    begin: async (settlement: string, root: BlockHeader) => void begun.push([settlement, root.number]),
  }
  const context = { config: { chainId: 1, settlement: OWN, startBlock }, eventSink, log }
  const reader = { header: async (number: number) => header(number) }
  const openPosition = createOpenPosition(only(context))
  await openPosition(only(reader), header(HEAD))
  const position = await openPosition(only(reader), header(HEAD))
  return { firstBlock: position?.firstBlock, begun: begun[0], warnings }
}

const positionOf = (settlement: typeof OWN | typeof OTHER): ChainPosition => ({
  settlement,
  firstBlock: 7,
  headers: [header(6)],
})
const CHANGED = 'the settlement contract has changed: the events of the new one are read from its first block'

it.each([
  ['after the head without START_BLOCK', undefined, undefined, 11, [OWN, 10], []],
  ['at START_BLOCK', 5, undefined, 5, [OWN, 4], []],
  ['at block 0', 0, undefined, 0, [OWN, -1], []],
  ['at a START_BLOCK that is the next block', 11, undefined, 11, [OWN, 10], []],
  [
    'nowhere while START_BLOCK is above the head, which one warning says',
    12,
    undefined,
    undefined,
    undefined,
    [expect.stringMatching(/^START_BLOCK_1 is above the head/)],
  ],
  ['where the event log is', 5, positionOf(OWN), 7, undefined, []],
  ['again for another contract, with a warning', 3, positionOf(OTHER), 3, [OWN, 2], [CHANGED, CHANGED]],
])('a chain begins %s', async (_where, startBlock, stored, firstBlock, begun, warnings) => {
  expect(await open(startBlock, stored)).toEqual({ firstBlock, begun, warnings })
})

/** Reads a chain again that has kept its blocks up to a number. @returns the block after which it is read */
async function rootAfterLoss(eventBlocks: readonly number[], lastKept: number, firstBlock: number) {
  const isKept = ({ number }: BlockHeader) => number <= lastKept
  const onChain = (known: BlockHeader) => (isKept(known) ? known : { ...known, hash: header(99).hash })
  const reader = { header: async (number: number) => onChain(header(number)) }
  const [oldest, fork] = [header(HEAD), header(HEAD + 1)]
  const lost = { oldest, eventBlocks: eventBlocks.map(header), firstBlock, fork }
  return (await resyncRoot(only(reader), lost)).number
}

it.each([
  ['the last block with events that it has kept', [5, 6, 8, 9], 7, 3, 6],
  ['the block before the first one read, when it has kept none with events', [8, 9], 7, 3, 2],
  ['the block before the first one read, when no block has events', [], 7, 3, 2],
  ['nothing, when its first block was read', [0, 8], -1, 0, -1],
])('a chain whose known blocks have left it is read again after %s', async (_where, eventBlocks, ...rest) => {
  const [lastKept, firstBlock, root] = rest
  expect(await rootAfterLoss(eventBlocks, lastKept, firstBlock)).toBe(root)
})

it('a chain that has kept its oldest known block is not read again', async () => {
  await expect(rootAfterLoss([9], HEAD, 3)).rejects.toThrow(InconsistentAnswerError)
})

import { pino } from 'pino'
import { expect, it } from 'vitest'
import type { BlockHeader, ChainPosition } from '../../../packages/protocol/src/orders/block.js'
import { createOpenPosition } from '../../../src/chain/sync/starting-block.js'
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
  const sink = {
    open: async () => stored,
    begin: async (settlement: string, root: BlockHeader) => void begun.push([settlement, root.number]),
  }
  const context = { config: { chainId: 1, settlement: OWN, startBlock }, log }
  const reader = { header: async (number: number) => header(number) }
  const openPosition = createOpenPosition(only(context), only(sink))
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

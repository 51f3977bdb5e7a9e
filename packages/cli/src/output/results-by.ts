import type { OwnResult } from '@quote-aggregator/client'
import { countWords, formatTime } from './printable.js'
import type { Column } from './tables.js'

/** By what results are summed up. */
export const GROUPINGS = ['pair', 'size', 'hour'] as const
export type Grouping = (typeof GROUPINGS)[number]

/** What came of the firm requests of a group. */
interface Group {
  readonly name: string
  readonly results: readonly OwnResult[]
  /** Those whose best offer was not the solver's, or that got no offer. */
  readonly lost: readonly OwnResult['result'][]
  /** What was asked for in these: undefined where the group has amounts of several tokens. */
  readonly lostVolume: string | undefined
}

const HOUR_MS = 3_600_000

const count = ({ results }: Group, has: (result: OwnResult) => boolean) => results.filter(has).length
const isLost = ({ result: { rank, outcome } }: OwnResult) => rank !== 1 && outcome !== 'CANCELLED'

/** Why there was no valid offer, as far as a code says it. */
export const reasonOf = ({ reason, declineCode, httpStatus }: OwnResult['result']) =>
  reason ?? declineCode ?? (httpStatus && `status ${httpStatus}`)

/** Why the quote went to another offer, or to none. */
function lossOf(result: OwnResult['result']): string {
  return result.outcome === 'QUOTED' ? 'outbid' : `${reasonOf(result) ?? result.outcome.toLowerCase()}`
}

/** The columns of groups. */
export const GROUPS: readonly Column<Group>[] = [
  ['group', ({ name }) => name],
  ['asked', ({ results }) => results.length],
  ['by rank', (group) => count(group, ({ result }) => result.chosenBy === 'RANK'), 'minor'],
  ['in turn', (group) => count(group, ({ result }) => result.chosenBy === 'TURN'), 'minor'],
  ['quoted', (group) => count(group, ({ result }) => result.outcome === 'QUOTED')],
  ['best', (group) => count(group, ({ result }) => result.rank === 1)],
  ['rank', ({ results }) => median(results.map(({ result }) => result.rank))],
  ['distance', ({ results }) => median(results.map(({ distanceBps }) => distanceBps))],
  ['lost', ({ lost }) => lost.length],
  ['lost volume', ({ lostVolume }) => lostVolume, 'amount'],
  ['lost because', ({ lost }) => countWords(lost.map(lossOf))],
]

/** Sums up the firm results of a chain. @param format of its tokens */
export function groupResults(
  results: readonly OwnResult[],
  by: Grouping,
  format: (amount: bigint, token: OwnResult['request']['inputToken']) => string,
): Group[] {
  const groups = new Map<string, OwnResult[]>()
  for (const result of results) {
    if (result.kind !== 'FIRM') continue
    const name = nameOf(result, by, format)
    groups.set(name, [...(groups.get(name) ?? []), result])
  }
  return [...groups].map(([name, own]) => {
    const lost = own.filter(isLost)
    const volume = lost.reduce((sum, { request }) => sum + request.amount, 0n)
    const tokens = new Set(own.map(fixedToken))
    const [token] = tokens
    const lostVolume = token === undefined || tokens.size > 1 ? undefined : format(volume, token)
    return { name, results: own, lost: lost.map(({ result }) => result), lostVolume }
  })
}

/** The token of the amount that the user has chosen. */
const fixedToken = ({ request: { orderType, inputToken, outputToken } }: OwnResult) =>
  orderType === 'EXACT_INPUT' ? inputToken : outputToken

function nameOf(result: OwnResult, by: Grouping, format: Parameters<typeof groupResults>[2]): string {
  const { request, requestedAt } = result
  if (by === 'hour') return formatTime((requestedAt - (requestedAt % HOUR_MS)) / 1000)
  if (by === 'size') {
    const least = 10n ** BigInt(String(request.amount).length - 1)
    return `from ${format(least, fixedToken(result))}`
  }
  const [input, output] = [request.inputToken, request.outputToken].map((token) =>
    symbolOf(format(0n, token)),
  )
  return request.orderType === 'EXACT_INPUT' ? `${input} > ${output}` : `${input} > exact ${output}`
}

/** `0 WETH` of a listed token, and `0 of 0x…` of another one. */
const symbolOf = (zero: string) => zero.replace(/^0 (of )?/, '')

/** Of two in the middle, the lower one. */
function median(numbers: readonly (number | undefined)[]): number | undefined {
  const known = numbers.filter((number) => number !== undefined).sort((one, other) => one - other)
  return known[Math.floor((known.length - 1) / 2)]
}

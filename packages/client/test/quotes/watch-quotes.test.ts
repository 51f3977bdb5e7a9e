import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { deferred } from '../../../../test/support/deferred.js'
import { AggregatorError, type QuoteOffers, type QuoteStreamMessage, watchQuotes } from '../../src/index.js'
import { readSignedQuote } from '../../src/quotes/get-quote.js'
import { PARAMS, sampleOffer } from '../samples.js'

const DEADLINE_MS = 1_800_000

const offer = (output: number) => readSignedQuote(sampleOffer(output), () => undefined)
const quote = (round: number, output: number): QuoteStreamMessage => ({
  type: 'quote',
  quoteId: `q-${round}`,
  round,
  offer: offer(output),
  asked: 3,
  answered: 1,
})
const done = (round: number, output?: number, ...alternatives: number[]): QuoteStreamMessage => ({
  type: 'done',
  quoteId: `q-${round}`,
  round,
  best: output === undefined ? undefined : offer(output),
  alternatives: alternatives.map(offer),
  asked: 3,
  quoted: 1,
  declined: 0,
  invalid: 0,
  failed: 0,
  late: 0,
  expiresAt: output === undefined ? undefined : DEADLINE_MS,
})
const broken = new AggregatorError('CONNECTION_FAILED', 'broken')

type Step = QuoteStreamMessage | Error | 'silence' | 'expiry'

/** An instance that plays one script for each stream, then is silent. */
function instance(...scripts: readonly (readonly Step[])[]) {
  const opened: unknown[] = []
  const silent = deferred()
  return {
    opened,
    silent: silent.opened,
    aggregator: {
      async *streamQuotes(params: unknown, { signal }: { signal?: AbortSignal } = {}) {
        const script = scripts[opened.length] ?? ['silence']
        opened.push(params)
        for (const step of script) {
          if (step instanceof Error) throw step
          if (step === 'expiry') vi.setSystemTime(DEADLINE_MS + 1)
          else if (step !== 'silence') yield step
          else {
            silent.open()
            await new Promise<void>((resolve) => signal?.addEventListener('abort', () => resolve()))
            return
          }
        }
      },
    },
  }
}

beforeEach(() => void vi.useFakeTimers({ now: 1_000_000 }))
afterEach(() => void vi.useRealTimers())

const lineOf = ({ best, alternatives }: QuoteOffers) =>
  [best?.quote.outputAmount ?? 'nothing', ...alternatives.map(({ quote }) => quote.outputAmount)].join(' ')

/** A line for all offers until the instance is silent, or for the error that ends the watch. */
async function watch({ aggregator, silent }: ReturnType<typeof instance>, onLost?: (error: Error) => void) {
  const lines: string[] = []
  const leaving = new AbortController()
  void silent.then(() => leaving.abort())
  let isDone = false
  const watching = (async () => {
    const options = { signal: leaving.signal, onLost }
    for await (const offers of watchQuotes(aggregator, PARAMS, options)) lines.push(lineOf(offers))
  })()
  const ended = watching
    .catch(({ reason }) => void lines.push(reason))
    .finally(() => {
      isDone = true
    })
  while (!isDone) await vi.advanceTimersByTimeAsync(1000)
  await ended
  return lines
}

describe('watchQuotes', () => {
  it('yields each better offer of the first round, then only the ends of rounds', async () => {
    const script = [
      quote(1, 5),
      quote(1, 6),
      done(1, 6, 5),
      quote(2, 3),
      quote(2, 4),
      done(2, 7, 4),
      'silence',
    ] as const
    expect(await watch(instance(script))).toEqual(['5', '6', '6 5', '7 4'])
  })

  it('says how many solvers were asked and have answered, those that were late not among them', async () => {
    const end = { ...done(1, 6), declined: 1, late: 1 }
    const offers = watchQuotes(instance([quote(1, 5), end, 'silence']).aggregator, PARAMS)
    const counts = [await offers.next(), await offers.next()].map(({ value }) => [
      value.asked,
      value.answered,
    ])
    expect(counts).toEqual([
      [3, 1],
      [3, 2],
    ])
    await offers.return?.()
  })

  it('keeps the last offers over rounds without one, until they have expired', async () => {
    const script = [done(1, 6), done(2), done(3), 'expiry', done(4), quote(5, 3), 'silence'] as const
    expect(await watch(instance(script))).toEqual(['6', 'nothing', '3'])
  })

  it('drops an offer that its own round has dropped, and says that the first round has none', async () => {
    expect(await watch(instance([quote(1, 6), done(1), 'silence']))).toEqual(['6', 'nothing'])
    expect(await watch(instance([done(1), 'silence']))).toEqual(['nothing'])
  })

  it('goes on after the last round of a stream without a loss, and after losses, and keeps the offers', async () => {
    const lost: Error[] = []
    const source = instance(
      [done(1, 6)],
      [broken],
      [quote(7, 3), broken],
      [quote(8, 4), done(8, 5), 'silence'],
    )
    expect(await watch(source, (error) => void lost.push(error))).toEqual(['6', '5'])
    expect(lost).toEqual([broken, broken])
    expect(source.opened).toEqual(Array(4).fill({ ...PARAMS, refreshSeconds: 15 }))
  })

  it('drops offers that have expired while no stream can be had', async () => {
    const source = instance([done(1, 6), 'expiry', broken], [broken], ['silence'])
    expect(await watch(source)).toEqual(['6', 'nothing'])
  })

  it('ends with an error that another attempt does not change', async () => {
    const source = instance([done(1, 6), broken], [new AggregatorError('CHAIN_NOT_SUPPORTED', 'No.')])
    expect(await watch(source)).toEqual(['6', 'CHAIN_NOT_SUPPORTED'])
    expect(source.opened).toHaveLength(2)
  })

  it('closes the stream when its loop is left, also while it waits', async () => {
    const source = instance([done(1, 6), 'silence'])
    const offers = watchQuotes(source.aggregator, { ...PARAMS, refreshSeconds: 5 })
    expect(lineOf((await offers.next()).value)).toBe('6')
    const pending = offers.next()
    await source.silent
    await offers.return?.()
    expect((await pending).done).toBe(true)
    expect(source.opened).toEqual([{ ...PARAMS, refreshSeconds: 5 }])
    expect(vi.getTimerCount()).toBe(0)
  })
})

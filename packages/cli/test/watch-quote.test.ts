import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { describe, expect, it } from 'vitest'
import { startCommandLine } from '../../../test/support/process/command-line.js'
import { ADDRESS, orderIdOf, sampleEnd, sampleUpdate } from '../../client/test/samples.js'
import { sendJson, serve } from '../../client/test/server.js'
import { QUOTE_OPTION_RULES } from '../../protocol/src/field-rules.js'

const SWAP = ['--chain', '1', '--sell', ADDRESS, '--buy', ADDRESS, '--user', ADDRESS, '--amount', '1']
const OPTIONS =
  '--deposit-window 60 --soft-deadline 300 --min-quotes 2 --verify best --min-deposit-window 30'.split(' ')
const GIVEN = { depositWindow: 60, softDeadlineMs: 300, minQuotes: 2, verify: 'best', minDepositWindow: 30 }

const block = (event: string, data: unknown) => `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`
const quote = (round: number, output: number) => block('quote', inTheFuture(sampleUpdate(round, output)))
const done = (...end: Parameters<typeof sampleEnd>) => block('done', sampleEnd(...end))

function inTheFuture(update: ReturnType<typeof sampleUpdate>) {
  return { ...update, quote: { ...update.quote, depositDeadline: 4_000_000_000 } }
}

function openStream(response: ServerResponse): ServerResponse {
  return response.writeHead(200, { 'content-type': 'text/event-stream' })
}

/** Runs `quote` against an instance that answers so. */
async function startQuote(
  answer: (response: ServerResponse, request: IncomingMessage) => void,
  more: readonly string[],
  isTTY = false,
) {
  const { url, requests } = await serve((request, response) => answer(response, request))
  const running = startCommandLine(['quote', ...SWAP, ...more, '--url', url], { isTTY })
  return { ...running, requests }
}

const streaming =
  (...blocks: string[]) =>
  (response: ServerResponse) =>
    void openStream(response).end(blocks.join(''))

describe('quote --watch', () => {
  it('prints a line for each message', async () => {
    const answer = streaming(quote(1, 5), quote(1, 6), done(1, 6, [5]), done(2, undefined))
    const { code, stdout, stderr } = await (await startQuote(answer, ['--watch'])).ended
    expect([code, stderr]).toEqual([0, ''])
    const lines = stdout.split('\n').map((line) => line.replace(/^\d{4}-\d\d-\d\d [\d:]+ UTC {2}/, ''))
    const offer = (output: number) => `solver ${ADDRESS}  sells 1  buys ${output}  order ${orderIdOf(output)}`
    expect(lines).toEqual([
      `round 1: 1 of 3 answered  ${offer(5)}`,
      `round 1: 1 of 3 answered  ${offer(6)}`,
      `round 1 done: 3 asked, 2 quoted, 1 late  ${offer(6)}`,
      'round 2 done: no offer, 3 asked, 1 late',
      '',
    ])
  })

  it('prints one object a line with --json, also on a terminal', async () => {
    const running = await startQuote(streaming(quote(1, 5), done(1, 5)), ['--watch', '--json'], true)
    const { code, stdout } = await running.ended
    expect(code).toBe(0)
    const messages = stdout
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line))
    expect(messages).toMatchObject([
      { type: 'quote', round: 1, offer: { quote: { outputAmount: '5' } } },
      { type: 'done', round: 1, best: { quote: { outputAmount: '5' } }, alternatives: [], late: 1 },
    ])
  })

  it('ends with 130 at Ctrl-C, and closes the connection', async () => {
    let closed: Promise<unknown> | undefined
    const answer = (response: ServerResponse) => {
      closed = once(response, 'close')
      openStream(response).write(quote(1, 5))
    }
    const running = await startQuote(answer, ['--refresh', '5'])
    await expect.poll(() => running.written.stdout).toMatch(/^\S+ \S+ UTC {2}round 1: /)
    running.interrupt()
    const { code, stderr } = await running.ended
    expect([code, stderr]).toEqual([130, ''])
    await closed
  })
})

describe('quote', () => {
  it.each([
    [['--refresh', '15'], '/v1/1/quote/stream', { refreshSeconds: 15 }],
    [['--watch'], '/v1/1/quote/stream', {}],
    [['--watch', ...OPTIONS], '/v1/1/quote/stream', GIVEN],
    [OPTIONS, '/v1/1/quote', GIVEN],
    [['--soft-deadline', '0'], '/v1/1/quote', { softDeadlineMs: 0 }],
  ])('sends %j', async (more, path, fields) => {
    const sent: unknown[] = []
    const answer = async (response: ServerResponse, request: IncomingMessage) => {
      if (request.method === 'GET') return sendJson(response, 200, { tokens: [] })
      const body: object = JSON.parse((await request.toArray()).join(''))
      const optional = Object.entries(body).filter(([name]) => name === 'refreshSeconds' || name in GIVEN)
      sent.push(request.url, Object.fromEntries(optional))
      sendJson(response, 503, { error: 'No.', code: 'NO_QUOTES' })
    }
    expect((await (await startQuote(answer, more)).ended).code).toBe(3)
    expect(sent).toEqual([path, fields])
  })

  it('has an option for each field that a request can leave out', () => {
    expect(Object.keys(GIVEN)).toEqual(Object.keys(QUOTE_OPTION_RULES))
  })

  it.each([
    [['--refresh', '4'], 'It must be 5 to 60.'],
    [['--refresh', '61'], 'It must be 5 to 60.'],
    [['--soft-deadline', '60001'], 'It must be 0 to 60000.'],
    [['--min-quotes', '0'], 'It must be 1 to 1000.'],
    [['--verify', 'some'], 'It must be one of off, best, all.'],
  ])('refuses %j', async (more, said) => {
    const running = await startQuote(streaming(), more)
    const { code, stderr } = await running.ended
    expect(code).toBe(2)
    expect(stderr).toContain(said)
    expect(running.requests()).toBe(0)
  })
})

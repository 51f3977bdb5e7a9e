import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { describe, expect, it } from 'vitest'
import { createAggregatorClient, type QuoteStreamMessage, type QuoteStreamParams } from '../../src/index.js'
import { orderIdOf, PARAMS, sampleEnd, sampleOffer, sampleUpdate } from '../samples.js'
import { sendJson, serve } from '../server.js'

const block = (event: string, data: unknown) => `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`
const quote = (round: number, output: number) => block('quote', sampleUpdate(round, output))
const done = (...end: Parameters<typeof sampleEnd>) => block('done', sampleEnd(...end))

function openStream(response: ServerResponse) {
  response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders()
  return response
}

/** A client of an instance that streams this text and ends. */
async function clientOf(text: string) {
  const { url } = await serve((_request, response) => void openStream(response).end(text))
  return createAggregatorClient({ baseUrl: url })
}

/** A line for each message, and one for an error. */
async function read(messages: AsyncIterable<QuoteStreamMessage>): Promise<string[]> {
  const lines: string[] = []
  try {
    for await (const message of messages) lines.push(lineOf(message))
  } catch (thrown) {
    const { name, reason, message } = thrown as { name?: string; reason?: string; message?: string }
    lines.push(`${name} ${reason}: ${message}`)
  }
  return lines
}

function lineOf(message: QuoteStreamMessage): string {
  if (message.type === 'quote') return `${message.round} quote ${message.offer.quote.outputAmount}`
  const { best, alternatives } = message
  const others = alternatives.map(({ quote }) => quote.outputAmount)
  return [message.round, 'done', best?.quote.outputAmount ?? 'nothing', ...others].join(' ')
}

describe('a stream of quotes', () => {
  it('yields each better offer with all that the instance says of it, then the end of the round', async () => {
    const client = await clientOf(`${quote(1, 5)}: heartbeat\n\n${done(1, 5, [4])}`)
    const messages: QuoteStreamMessage[] = []
    for await (const message of client.streamQuotes(PARAMS)) messages.push(message)
    const { solverSignature: signature, orderId, depositAddress, quote: sent } = sampleOffer(5)
    const amounts = { inputAmount: 1n, outputAmount: 5n, nonce: 0n }
    const offer = {
      quote: { ...sent, ...amounts, orderType: 'EXACT_INPUT' },
      signature,
      orderId,
      depositAddress,
    }
    const counts = { asked: 3, quoted: 2, declined: 0, invalid: 0, failed: 0, late: 1 }
    expect(messages).toEqual([
      { type: 'quote', quoteId: 'q-1', round: 1, offer, asked: 3, answered: 1 },
      {
        type: 'done',
        quoteId: 'q-1',
        round: 1,
        best: offer,
        alternatives: [expect.objectContaining({ orderId: orderIdOf(4) })],
        ...counts,
        expiresAt: 1_800_000,
      },
    ])
  })

  it('yields the rounds, also one without an offer and one whose offer was dropped', async () => {
    const text = [
      quote(1, 5),
      quote(1, 6),
      done(1, 6, [5]),
      done(2, undefined),
      quote(3, 9),
      done(3, undefined),
    ]
    expect(await read((await clientOf(text.join(''))).streamQuotes(PARAMS))).toEqual([
      '1 quote 5',
      '1 quote 6',
      '1 done 6 5',
      '2 done nothing',
      '3 quote 9',
      '3 done nothing',
    ])
  })

  it('skips events that this version of the client does not know, and those without a name', async () => {
    const others = [block('solver', '<html>'), 'event: \ndata: <html>\n\n', 'event: quote\n\n', 'data: 1\n\n']
    const client = await clientOf([...others, quote(1, 5), ...others, done(1, 5)].join(''))
    expect(await read(client.streamQuotes(PARAMS))).toEqual(['1 quote 5', '1 done 5'])
  })

  it('sends the swap, how often and how long to wait', async () => {
    const sent: unknown[] = []
    const { url } = await serve(async (request, response) => {
      const chunks = await request.toArray()
      sent.push(request.method, request.url, request.headers['content-type'], JSON.parse(chunks.join('')))
      sendJson(response, 503, { error: 'No.', code: 'NO_QUOTES' })
    })
    const waiting = { softDeadlineMs: 400, minQuotes: 2, verify: 'best' } as const
    const params = { ...PARAMS, ...waiting, refreshSeconds: 5 }
    const lines = await read(createAggregatorClient({ baseUrl: url }).streamQuotes(params))
    expect(lines).toEqual(['AggregatorError NO_QUOTES: No.'])
    const { chainId, user, amount, ...swap } = PARAMS
    const body = { ...swap, ...waiting, amount: '1', userAddress: user, refreshSeconds: 5 }
    expect(sent).toEqual([
      'POST',
      '/v1/1/quote/stream',
      'application/json',
      { ...body, originChainId: chainId, destinationChainId: chainId },
    ])
  })

  it('ends with the error of an instance that fails after the stream has opened', async () => {
    const failed = { error: 'The chain is away.', code: 'CHAIN_UNAVAILABLE', quoteId: 'q-2' }
    const client = await clientOf(`${quote(1, 5)}${block('error', failed)}${done(1, 5)}`)
    const messages = client.streamQuotes(PARAMS)[Symbol.asyncIterator]()
    await messages.next()
    await expect(messages.next()).rejects.toMatchObject({
      name: 'AggregatorError',
      reason: 'CHAIN_UNAVAILABLE',
      message: 'The chain is away.',
      quoteId: 'q-2',
      httpStatus: undefined,
    })
  })

  it('rejects each bad parameter without a request', async () => {
    const { url, requests } = await serve((_request, response) => void response.end())
    const client = createAggregatorClient({ baseUrl: url })
    const bad = {
      ...PARAMS,
      amount: 0n,
      refreshSeconds: 4,
      softDeadlineMs: -1,
      minQuotes: 1.5,
      verify: 'some' as never,
      depositwindow: 60,
    }
    const error = await client
      .streamQuotes(bad)
      [Symbol.asyncIterator]()
      .next()
      .catch((thrown) => thrown)
    expect(error).toMatchObject({ name: 'AggregatorError', reason: 'INVALID_ARGUMENT' })
    const fields = error.violations.map(({ field }: { field: string }) => field)
    const wanted = ['amount', 'softDeadlineMs', 'minQuotes', 'verify', 'refreshSeconds', 'depositwindow']
    expect(fields.sort()).toEqual(wanted.sort())
    const none = client.streamQuotes(undefined as unknown as QuoteStreamParams)[Symbol.asyncIterator]()
    await expect(none.next()).rejects.toMatchObject({ reason: 'INVALID_ARGUMENT' })
    expect(requests()).toBe(0)
  })
})

it('an offer has the mark of the settlement contract only when it is true', async () => {
  const marked = (verified?: boolean) => block('quote', { ...sampleUpdate(1, 5), verified })
  const client = await clientOf(`${marked(true)}${marked(false)}${marked()}${done(1, 5)}`)
  const marks: (boolean | undefined)[] = []
  for await (const message of client.streamQuotes(PARAMS))
    if (message.type === 'quote') marks.push(message.offer.verified)
  expect(marks).toEqual([true, undefined, undefined])
})

describe('an instance that streams', () => {
  it.each([
    ['an offer that is not JSON', 'event: quote\ndata: <html>\n\n', 'undefined instead of an object'],
    ['a list in place of an offer', block('quote', []), 'a value instead of an object'],
    ['an amount that is none', quote(1, 5).replace('"5"', '"-5"'), '"-5" instead of a decimal uint256'],
    [
      'a mark that is none',
      block('quote', { ...sampleUpdate(1, 5), verified: 'yes' }),
      '"yes" instead of a boolean',
    ],
    ['a round that is none', quote(-1, 5), '-1 instead of an integer of 0 to 2^53-1'],
    ['the round 0', quote(0, 5), 'round 0 after round 0'],
    ['an end without its best offer', done(1, 5), `the best order ${orderIdOf(5)} instead of none`],
    ['the best offer of another round', `${quote(1, 5)}${done(1, 5)}${done(2, 5)}`, 'instead of none'],
    ['another best offer', `${quote(1, 5)}${done(1, 6)}`, `instead of ${orderIdOf(5)}`],
    [
      'an offer of a round that has ended',
      `${quote(1, 5)}${done(1, 5)}${quote(1, 6)}`,
      'round 1 after round 1',
    ],
    ['a second end of a round', `${done(1, undefined)}${done(1, undefined)}`, 'round 1 after round 1'],
    ['an earlier round', `${done(3, undefined)}${quote(2, 5)}`, 'round 2 after round 3'],
    ['a round within another', `${quote(1, 5)}${quote(2, 6)}`, 'round 2 after round 1'],
    ['an error that it does not describe', block('error', 'No.'), 'a stream that ends with an unknown error'],
    ['a block without an end', `data: ${'x'.repeat(1_100_000)}`, 'an event without an end'],
  ])('%s has no answer that the client understands', async (_name, text, said) => {
    const lines = await read((await clientOf(text)).streamQuotes(PARAMS))
    expect(lines.at(-1)).toContain('AggregatorError ANSWER_INVALID: ')
    expect(lines.at(-1)).toContain(said)
  })

  it.each([
    ['nothing', '', 0],
    ['a round without its end', `${quote(1, 5)}${done(1, 5)}${quote(2, 6)}`, 3],
    ['a part of a block', `${quote(1, 5)}event: done\ndata: {`, 1],
  ])('%s has lost the connection', async (_name, text, messages) => {
    const lines = await read((await clientOf(text)).streamQuotes(PARAMS))
    expect(lines).toHaveLength(messages + 1)
    expect(lines.at(-1)).toMatch(/^AggregatorError CONNECTION_FAILED: .* ended the stream within a round/)
  })

  it('and whose connection breaks has lost it', async () => {
    const { url } = await serve((_request, response) => {
      openStream(response).write(quote(1, 5), () => response.destroy())
    })
    const lines = await read(createAggregatorClient({ baseUrl: url }).streamQuotes(PARAMS))
    expect(lines).toEqual(['1 quote 5', expect.stringMatching(/^AggregatorError CONNECTION_FAILED: /)])
  })
})

describe('the connection of a stream', () => {
  /** An instance whose streams stay open after an offer. */
  async function opened() {
    let closed: Promise<unknown> | undefined
    const { url } = await serve((_request, response) => {
      closed = once(response, 'close')
      openStream(response).write(quote(1, 5))
    })
    return { client: createAggregatorClient({ baseUrl: url }), closed: () => closed }
  }

  it('is closed at once when the caller leaves the loop', async () => {
    const { client, closed } = await opened()
    for await (const _message of client.streamQuotes(PARAMS)) break
    await closed()
  })
})

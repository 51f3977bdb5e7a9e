import { inspect } from 'node:util'
import { createPublicClient, custom, erc20Abi, http } from 'viem'
import { expect, it, onTestFinished } from 'vitest'
import { serve } from '../../client/test/server.js'
import { reportable, wordsOf } from '../../protocol/src/node/node-words.js'
import { failed } from '../src/chain/open-chain.js'
import { createSolver } from '../src/create-solver.js'

const ADDRESS = `0x${'0a'.repeat(20)}` as const
const KEY = 'secret-key'
/** What a log and a console show of an error, with its stack twice. One of viem has 22,000 and more. */
const MAX_SHOWN = 5_000

/** What a logger such as pino may take of an error, and what a console shows. */
const shown = (error: unknown) =>
  inspect(error, { depth: 20, showHidden: true }) + JSON.stringify(error, Object.getOwnPropertyNames(error))

/** The error of a call whose node answers so. @param url with a key */
async function errorOf(transport: Parameters<typeof createPublicClient>[0]['transport']) {
  const client = createPublicClient({ transport })
  const call = { address: ADDRESS, abi: erc20Abi, functionName: 'balanceOf', args: [ADDRESS] } as const
  return client.readContract(call).catch((error) => error)
}

it('the words of a contract have no characters that a terminal executes', () => {
  expect(wordsOf(new Error('execution reverted: \u001b]0;owned\u0007 \u202eno'))).toBe(
    'execution reverted: ?]0;owned? ?no',
  )
})

it.each([401, 429, 500, 307])(
  'an error of a node that answers %i shows no key of its URL, and is short',
  async (status) => {
    const { url } = await serve((_request, response) => {
      response
        .writeHead(status, { location: '/other' })
        .end(`denied at https://rpc.example/v2/${KEY}?k=${KEY}`)
    })
    const options = { retryCount: 0, fetchOptions: { redirect: 'error' } } as const
    const error = await errorOf(http(`${url}/v2/${KEY}`, options))
    expect(shown(error)).toContain(KEY)
    expect(shown(error).length).toBeGreaterThan(MAX_SHOWN)
    const wrapped = new Error('the bond cannot be read', { cause: error })
    for (const one of [error, wrapped]) {
      expect(shown(reportable(one))).not.toContain(KEY)
      expect(shown(reportable(one)).length).toBeLessThan(MAX_SHOWN)
    }
    expect(() => failed('chains[1].rpc must be a node')(error)).toThrow(
      /^chains\[1\].rpc must be a node: "?\w/,
    )
  },
)

it('the words of a node are in its error, and are cut', async () => {
  const words = `insufficient funds ${'x'.repeat(50_000)} ws://user:${KEY}@node.example/${KEY}`
  const error = await errorOf(
    custom(
      { request: () => Promise.reject(Object.assign(new Error(words), { code: -32000 })) },
      { retryCount: 0 },
    ),
  )
  expect(wordsOf(error)).toContain('insufficient funds')
  expect(shown(reportable(error)).length).toBeLessThan(MAX_SHOWN)
  expect(shown(reportable(error))).not.toContain(KEY)
  expect(wordsOf(new Error(`at ws://user:${KEY}@node.example:8546/${KEY}`))).toBe('at ws://node.example:8546')
})

it('a node that quotes the path and query at which it was asked shows no key', async () => {
  const { url } = await serve(({ url: path }, response) => {
    response.writeHead(403).end(`Cannot POST ${path}: ${KEY} is unknown`)
  })
  const error = await errorOf(http(`${url}/v2/${KEY}?key=${KEY}2`, { retryCount: 0 }))
  expect(wordsOf(error)).toContain('Cannot POST /v2/…')
  expect(shown(reportable(error))).not.toContain(KEY)
})

it('an error of another kind is reported as it is', () => {
  const cause = new Error('of the market maker')
  const error = new TypeError('no price', { cause })
  expect(reportable(error)).toBe(error)
  expect(error.cause).toBe(cause)
  expect(reportable('a text')).toBe('a text')
})

it('a start that fails for its node, its log and its errors show no key', async () => {
  const { url } = await serve((_request, response) => response.writeHead(403).end('no'))
  const lines: unknown[] = []
  const write = (...line: unknown[]) => void lines.push(...line)
  const solver = createSolver({
    account: `0x${'11'.repeat(32)}`,
    name: 'Dora',
    aggregatorUrl: 'http://127.0.0.1:1',
    chains: { 1: { rpc: `${url}/v2/${KEY}`, settlement: ADDRESS, tokens: [ADDRESS] } },
    quote: () => ({ decline: 'OTHER' }),
    log: { debug: write, info: write, warn: write, error: write },
    onError: write,
  })
  onTestFinished(() => solver.close())
  lines.push(await solver.start().catch((error) => error))
  expect(String(lines.at(-1))).toContain('chains[1].rpc must be a node of chain 1: ')
  expect(shown(lines)).not.toContain(KEY)
})

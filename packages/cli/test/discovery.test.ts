import { describe, expect, it } from 'vitest'
import { commandLine } from '../../../test/support/process/command-line.js'
import { ADDRESS } from '../../client/test/samples.js'
import { sendJson, serve } from '../../client/test/server.js'

const OTHER = `0x${'22'.repeat(20)}`
const best = { solver: ADDRESS, name: 'Ada', inputAmount: '7', outputAmount: '1000' }
const SWAP = ['--chain', '1', '--sell', ADDRESS, '--buy', OTHER, '--amount', '1000']

/** Runs a command line against an instance with one answer. @returns how it ended, and what it sent */
async function runAgainst(answer: unknown, argv: readonly string[], status = 200) {
  const sent: unknown[] = []
  const { url } = await serve(async (request, response) => {
    sent.push(request.url, (await request.toArray()).join(''))
    sendJson(response, status, answer)
  })
  return { ...(await commandLine([...argv, '--url', url])), sent }
}

describe('quote without a user', () => {
  const answer = { best, offers: 2, asOf: 1_700_000_000_000 }

  it('shows what a swap would give', async () => {
    const { code, stdout, sent } = await runAgainst(answer, ['quote', ...SWAP, '--exact-output'])
    expect(code).toBe(0)
    expect(stdout).toBe(
      [
        `solver  ${ADDRESS}`,
        'name    Ada',
        `sells   7 of ${ADDRESS}`,
        `buys    1000 of ${OTHER}`,
        'offers  2',
        'as of   2023-11-14 22:13:20 UTC',
        '',
      ].join('\n'),
    )
    const swap = { inputToken: ADDRESS, outputToken: OTHER, orderType: 'EXACT_OUTPUT', amount: '1000' }
    expect(sent).toEqual(['/v1/1/price', JSON.stringify(swap), '/v1/1/tokens', ''])
  })

  it('ends with 3 when no solver answers', async () => {
    const refusal = { error: 'No offers.', code: 'NO_QUOTES' }
    const { code, stdout, stderr } = await runAgainst(refusal, ['quote', ...SWAP], 503)
    expect([code, stdout]).toEqual([3, ''])
    expect(stderr).toMatch(/^error: No offers\. \(NO_QUOTES\)\n/)
  })

  it('needs a chain, both tokens and an amount', async () => {
    const { code, stderr, sent } = await runAgainst(answer, ['quote', '--chain', '1', '--sell', ADDRESS])
    expect([code, sent]).toEqual([2, []])
    expect(stderr).toContain('It needs --buy, --amount as well.')
  })
})

import { describe, expect, it } from 'vitest'
import { commandLine } from '../../../test/support/process/command-line.js'
import { ADDRESS } from '../../client/test/samples.js'
import { sendJson, serve } from '../../client/test/server.js'

const [WETH, USDC, OTHER, FAKE] = ['a', 'b', 'c', 'd'].map((digit) => `0x${digit.repeat(40)}`) as [
  string,
  string,
  string,
  string,
]
const token = (address: string, symbol: string, decimals: number, listed = true) => ({
  address,
  symbol,
  decimals,
  listed,
  orders24h: 0,
})
const TOKENS = [token(WETH, 'WETH', 18), token(USDC, 'USDC', 6), token(FAKE, 'FAKE', 18, false)]
const PRICE = {
  best: { solver: ADDRESS, name: 'Ada', inputAmount: '1500000000000000000', outputAmount: '3750000000' },
  offers: 1,
  asOf: 1_700_000_000_000,
}

/** Asks for a price. @returns how it ended, and the swap that the instance was asked for */
async function price(argv: readonly string[], tokens: readonly object[] | null = TOKENS) {
  let swap: unknown
  const { url } = await serve(async (request, response) => {
    const body = (await request.toArray()).join('')
    if (request.url === '/v1/1/price') swap = JSON.parse(body)
    if (request.url === '/v1/1/price') return sendJson(response, 200, PRICE)
    if (tokens !== null && request.url === '/v1/1/tokens') return sendJson(response, 200, { tokens })
    sendJson(response, 404, { error: 'There is nothing at this path.', code: 'ROUTE_NOT_FOUND' })
  })
  return { ...(await commandLine(['quote', '--chain', '1', ...argv, '--url', url])), swap }
}

const swapOf = (sell: string, buy: string, amount: string, ...more: string[]) => [
  '--sell',
  sell,
  '--buy',
  buy,
  '--amount',
  amount,
  ...more,
]

describe('a swap of listed tokens', () => {
  it.each([
    ['symbols', swapOf('WETH', 'USDC', '1.5'), '1500000000000000000'],
    ['symbols and a whole amount', swapOf('WETH', 'USDC', '2'), '2000000000000000000'],
    ['all decimals', swapOf('WETH', 'USDC', '0.000000000000000001'), '1'],
    ['an address and a point', swapOf(WETH, USDC, '1.5'), '1500000000000000000'],
    ['an address and a whole amount, which is in the smallest unit', swapOf(WETH, 'USDC', '15'), '15'],
    ['a token that is not listed on the other side', swapOf('WETH', OTHER, '1.5'), '1500000000000000000'],
    ['an exact output', swapOf('WETH', 'USDC', '2500.25', '--exact-output'), '2500250000'],
  ])('may be written with %s', async (_, argv, amount) => {
    const { code, swap } = await price(argv)
    expect([code, swap]).toMatchObject([0, { amount }])
  })

  it('is answered with amounts in tokens, and other tokens in smallest units', async () => {
    const { stdout, swap } = await price(swapOf('WETH', 'USDC', '1.5'))
    expect(swap).toMatchObject({ inputToken: WETH, outputToken: USDC })
    expect(stdout).toContain('sells   1.5 WETH\n')
    expect(stdout).toContain('buys    3750 USDC\n')
    const other = await price(swapOf(WETH, OTHER, '15'))
    expect(other.stdout).toContain('sells   1.5 WETH\n')
    expect(other.stdout).toMatch(/buys {4}3750000000 of 0xc{40}\n/i)
  })

  it.each([
    [
      'a symbol that no listed token has',
      swapOf('DAI', 'USDC', '1'),
      'No listed token of chain 1 has the symbol DAI.',
    ],
    [
      'a symbol in other letters',
      swapOf('weth', 'USDC', '1'),
      'has the symbol weth. Give the address, and the amount in its smallest unit, a whole number.',
    ],
    ['the symbol of a token that is not listed', swapOf('FAKE', 'USDC', '1'), 'has the symbol FAKE'],
    [
      'a point for a token that is not listed',
      swapOf(FAKE, 'USDC', '1.5'),
      `--amount 1.5 has a point, but ${FAKE} is not a listed token`,
    ],
    [
      'too many decimals',
      swapOf('USDC', 'WETH', '1.0000001'),
      '--amount 1.0000001 must have at most the 6 decimals of USDC',
    ],
    [
      'an amount above 2^256',
      swapOf('WETH', 'USDC', `1${'0'.repeat(70)}`),
      'the 18 decimals of WETH, and be below 2^256 in smallest units.',
    ],
    ['nothing', swapOf('WETH', 'USDC', '0.0'), 'It must be a number above 0'],
  ])('is refused with %s', async (_, argv, message) => {
    const { code, stderr, swap } = await price(argv)
    expect([code, swap]).toEqual([2, undefined])
    expect(stderr).toContain(message)
  })

  it('is refused with a symbol of two tokens, and both addresses are named', async () => {
    const { code, stderr } = await price(swapOf('WETH', 'USDC', '1'), [...TOKENS, token(OTHER, 'WETH', 6)])
    expect(code).toBe(2)
    expect(stderr.toLowerCase()).toContain(`two listed tokens have the symbol weth: ${WETH} and ${OTHER}.`)
  })

  it('may be written with addresses at an instance without lists of tokens', async () => {
    const { code, stdout, swap } = await price(swapOf(WETH, USDC, '15'), null)
    expect([code, swap]).toMatchObject([0, { amount: '15' }])
    expect(stdout).toMatch(/sells {3}1500000000000000000 of 0xa{40}\n/i)
  })

  it('shows nothing that a terminal obeys, whatever the instance says', async () => {
    const { stdout } = await price(swapOf(WETH, USDC, '15'), [
      token(WETH, 'W\u001b[31m', 18),
      token(USDC, 'U', 300),
    ])
    expect(stdout).not.toContain('\u001b')
  })
})

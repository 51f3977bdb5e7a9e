import { expect, it } from 'vitest'
import type { SolverChain } from '../src/chain/open-chain.js'
import { warnOfDecimals } from '../src/chain/token-decimals.js'

const [SETTLEMENT, BOND, WETH, USDC, OLD] = [1, 2, 3, 4, 5].map((digit) => `0x${String(digit).repeat(40)}`)
const DECIMALS = new Map([
  [BOND, 6],
  [WETH, 18],
  [USDC, 6],
])

it('a token with more decimals than the bond token is warned of, with what one of it puts at stake', async () => {
  const client = {
    request: async () => BOND?.replace('0x', `0x${'00'.repeat(12)}`),
    async readContract({ address }: { address: string }) {
      const decimals = DECIMALS.get(address)
      if (decimals === undefined) throw new Error('no such view')
      return decimals
    },
  }
  const tokens = new Map([WETH, OLD, USDC].map((token) => [token, 0n]))
  const chain = { client, chainId: 1, settlement: SETTLEMENT, tokens, bondReservationBps: 500n }
  const warnings: unknown[] = []
  const log = { debug() {}, info() {}, warn: (...line: unknown[]) => warnings.push(line), error() {} }
  await warnOfDecimals(chain as unknown as SolverChain, log)
  expect(warnings).toEqual([
    [{ chainId: 1, token: WETH }, expect.stringContaining('puts 50000000000 bond tokens at stake')],
  ])
})

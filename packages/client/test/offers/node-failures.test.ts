import { describe, expect, it } from 'vitest'
import { limitsOf, readSettlement, type SettlementTerms, verifyQuote } from '../../src/index.js'
import { createContractClient, WILLING } from './contract-client.js'
import { offerOf, QUOTE, TERMS } from './signed-offer.js'

const SETTLEMENT = TERMS.settlement
/** 5 % of the output is more than the bond. */
const POOR = { ...WILLING, solvers: [1_000n, 0n, 0n, 0, true] } as const

/** What a provider in a page rejects with when its own node fails. */
const PROVIDER_FAILURES = [
  { code: -32603, message: 'Internal JSON-RPC error.' },
  { code: -32603, message: 'execution reverted' },
  { code: -32603, message: 'Internal JSON-RPC error.', data: { code: -32000, message: 'header not found' } },
  { code: -32603, message: 'upstream', data: { cause: { message: 'execution reverted' } } },
]

const verify = async (client: SettlementTerms['client']) => {
  const terms = await readSettlement(createContractClient(POOR), SETTLEMENT)
  return verifyQuote(await offerOf(), { ...terms, client, limits: limitsOf(QUOTE), now: TERMS.now })
}

it('a good node shows that no bond covers the offer', async () => {
  await expect(verify(createContractClient(POOR))).rejects.toMatchObject({ problems: ['bond_too_small'] })
})

describe.each(PROVIDER_FAILURES)('a provider that fails with %j', (failure) => {
  it.each(['solvers', 'isNonceUsed', 'BOND_RESERVATION_BPS', 'MIN_ORDER'])(
    'at %s has verifyQuote throw its words',
    async (view) => {
      const client = createContractClient(POOR, (asked) => (asked === view ? failure : undefined))
      await expect(verify(client)).rejects.toThrow(
        new RegExp(`${view} could not be read: .*${failure.message}`),
      )
    },
  )

  it.each(['eip712Domain', 'DEPOSIT_PROXY_CREATION_CODE_HASH'])(
    'at %s has readSettlement throw its words',
    async (view) => {
      const client = createContractClient(POOR, (asked) => (asked === view ? failure : undefined))
      await expect(readSettlement(client, SETTLEMENT)).rejects.toThrow(
        new RegExp(`${view} could not be read: .*${failure.message}`),
      )
    },
  )
})

it('a node that answers nothing once does not hide what the contract says', async () => {
  const asked = new Set<string>()
  const client = createContractClient(POOR, (name) => {
    const isFirst = !asked.has(name)
    asked.add(name)
    return isFirst ? '0x' : undefined
  })
  expect((await readSettlement(client, SETTLEMENT)).domain).toMatchObject({ name: TERMS.domain.name })
  await expect(verify(client)).rejects.toMatchObject({ problems: ['bond_too_small'] })
})

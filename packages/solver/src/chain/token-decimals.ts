import { type Address, erc20Abi } from 'viem'
import type { SolverLog } from '../solver-options.js'
import type { SolverChain } from './open-chain.js'
import { settlementAbi } from './settlement-abi.js'

/**
 * Warns of each token with more decimals than the bond token. A slash takes a part of an output's smallest units, whatever they are
 * worth, so nearly no quote that pays out such a token fits into a bond.
 * @throws viem's errors
 */
export async function warnOfDecimals(chain: SolverChain, log: SolverLog): Promise<void> {
  const { client, chainId, settlement, tokens, bondReservationBps } = chain
  const decimalsOf = (address: Address) =>
    client.readContract({ address, abi: erc20Abi, functionName: 'decimals' })
  const bondCall = { address: settlement, abi: settlementAbi, functionName: 'BOND_TOKEN' } as const
  const bondDecimals = await decimalsOf(await client.readContract(bondCall))
  for (const token of tokens.keys()) {
    const decimals = await decimalsOf(token).catch(() => 0)
    if (decimals <= bondDecimals) continue
    const atStake = (10n ** BigInt(decimals - bondDecimals) * bondReservationBps) / 10_000n
    const text = `one whole token that is paid out puts ${atStake} bond tokens at stake: quotes for it will be declined`
    log.warn({ chainId, token, decimals, bondDecimals }, text)
  }
}

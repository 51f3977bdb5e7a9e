import { useEffect, useState } from 'preact/hooks'
import type { Chain } from '../../../../gen/aggregator/v1/chain_pb.js'
import { now } from '../data/clock.js'
import { wallet } from './connected-wallet.js'
import { loadWallet } from './load.js'

const PERIOD_MS = 5000

/**
 * How much of a token an account has, in the token's smallest unit, read through the wallet again every few seconds. Undefined
 * until it is read, and without a wallet on the chain.
 * @param token empty reads nothing
 * @param holder the account of the wallet when left out
 */
export function useBalance(chain: Chain, token: string, holder?: string): bigint | undefined {
  const known = wallet.value
  const isHere = known !== undefined && BigInt(known.chainId) === chain.chainId && token !== ''
  const account = holder ?? known?.address
  const key = isHere ? `${token} ${account}` : ''
  const [balance, setBalance] = useState<{ readonly key: string; readonly amount: bigint }>()
  const period = Math.floor(now.value / PERIOD_MS)
  useEffect(() => {
    if (key === '') return
    let isEnded = false
    void loadWallet()
      .then(({ readBalance }) => readBalance(token, account))
      .then(
        (amount) => !isEnded && setBalance({ key, amount }),
        () => {},
      )
    return () => {
      isEnded = true
    }
  }, [key, period])
  return balance?.key === key ? balance.amount : undefined
}

/** The coins that pay gas, by chain id. */
const COINS: Readonly<Record<number, string>> = {
  1: 'ETH',
  10: 'ETH',
  56: 'BNB',
  100: 'xDAI',
  137: 'POL',
  8453: 'ETH',
  31337: 'ETH',
  42161: 'ETH',
  43114: 'AVAX',
}

/** The coin that pays the gas of a chain; undefined where the console does not know it. */
export const coinOf = (chainId: number | bigint) => COINS[Number(chainId)]

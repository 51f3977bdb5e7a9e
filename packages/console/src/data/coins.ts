/** The chains here whose gas is paid in ether. */
const ETHER = [1, 10, 8453, 31337, 42161]
const OTHERS: Readonly<Record<number, string>> = { 56: 'BNB', 100: 'xDAI', 137: 'POL', 43114: 'AVAX' }

/** The coin that pays the gas of a chain; undefined where the console does not know it. */
export const coinOf = (chainId: number | bigint) =>
  ETHER.includes(Number(chainId)) ? 'ETH' : OTHERS[Number(chainId)]

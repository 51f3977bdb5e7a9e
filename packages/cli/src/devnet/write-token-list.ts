import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Devnet, DevnetContracts } from './deploy.js'

const TOKENS = [
  {
    token: 'weth',
    name: 'Wrapped Ether',
    symbol: 'WETH',
    decimals: 18,
    colour: '#5b6ee1',
    shape: 'M16 5l7 11-7 4-7-4zM16 22l7-4-7 9-7-9z',
  },
  {
    token: 'usdc',
    name: 'USD Coin',
    symbol: 'USDC',
    decimals: 6,
    colour: '#2775ca',
    shape: 'M14 7h4v3h3v3h-7v2h7v7h-3v3h-4v-3h-3v-3h7v-2h-7v-7h3z',
  },
  {
    token: 'bondToken',
    name: 'Bond',
    symbol: 'bUSD',
    decimals: 6,
    colour: '#7a4fb5',
    shape: 'M12 7h3v6h3.5a5 5 0 0 1 0 10H12zM15 16v4h3a2 2 0 0 0 0-4z',
  },
] as const

/** Writes the token list of a local network into a temporary file. */
export function writeTokenList({ chainId }: Devnet, contracts: DevnetContracts) {
  const folder = mkdtempSync(join(tmpdir(), 'aggregator-tokens-'))
  const path = join(folder, 'tokens.json')
  const tokens = TOKENS.map(({ token, colour, shape, ...facts }) => {
    const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><circle cx="16" cy="16" r="16" fill="${colour}"/><path d="${shape}" fill="#fff" fill-rule="evenodd"/></svg>`
    return {
      chainId,
      address: contracts[token],
      ...facts,
      logoURI: `data:image/svg+xml,${encodeURIComponent(svg)}`,
    }
  })
  writeFileSync(path, JSON.stringify({ name: 'Demo tokens', tokens }))
  return { path, close: async () => rmSync(folder, { recursive: true, force: true }) }
}

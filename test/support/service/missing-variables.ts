/** What a start without any variable writes. */
export const MISSING = [
  'SUPPORTED_CHAINS is missing',
  'RPC_URL_<chainId> is missing',
  'SERVICE_ADDRESS_<chainId> is missing',
  'npm run demo',
]

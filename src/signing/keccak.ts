import { createKeccak } from 'hash-wasm'

const hasher = await createKeccak(256)

/** Keccak-256 of `data`: 32 bytes. The WebAssembly version takes about a third of the time of a JavaScript one. */
export function keccak256(data: Uint8Array): Uint8Array {
  return hasher.init().update(data).digest('binary')
}

import { encodeEnvelope } from '@connectrpc/connect/protocol'

/**
 * Makes the envelope of an uncompressed message, which is the same in gRPC, gRPC-Web and streams of Connect. Connect exports
 * the function and calls it internal. Checked with @connectrpc/connect 2.1.2.
 */
export function messageEnvelope(message: Uint8Array): Buffer {
  return Buffer.from(encodeEnvelope(0, message))
}

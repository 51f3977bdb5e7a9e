import { configureTextEncoding, getTextEncoding } from '@bufbuild/protobuf/wire'

/**
 * Lets Node's buffers encode the text of messages, for all of the process. Messages consist of short strings, which
 * buffers encode in half the time of the standard's encoder.
 */
export function useFastTextEncoding(): void {
  configureTextEncoding({ ...getTextEncoding(), encodeUtf8: (text) => Buffer.from(text) })
}

import type { FastifyInstance, FastifyReply } from 'fastify'
import type { ChainConfig } from '../../config/config.js'
import type { Image } from '../../config/image.js'
import { LOGOS_PATH } from '../../config/token-list.js'
import { sendSlices } from './static-files.js'

/** An image comes from strangers. A browser that opens it as a page runs and loads nothing. */
const IMAGE_POLICY = "default-src 'none'; frame-ancestors 'none'; sandbox"
/** The name of a logo changes with its content. */
const FOREVER = 'public, max-age=31536000, immutable'

/** Serves the logos of token lists from memory (docs/decisions.md, D29). Requests for them count against no limit. */
export function registerLogos(server: FastifyInstance, chains: readonly ChainConfig[]): void {
  const tokens = chains.flatMap(({ tokenList }) => [...tokenList.values()])
  const images = new Map(tokens.flatMap(({ logo }) => (logo === undefined ? [] : [[logo.name, logo]])))
  for (const image of images.values())
    server.get(`${LOGOS_PATH}${image.name}`, (_request, reply) => sendImage(reply, image, FOREVER))
}

/** Sends an image. Other headers of its safety are those of every response. */
export function sendImage(reply: FastifyReply, { type, content }: Image, caching: string): void {
  sendSlices(
    reply.type(type).headers({ 'content-security-policy': IMAGE_POLICY, 'cache-control': caching }),
    content,
  )
}

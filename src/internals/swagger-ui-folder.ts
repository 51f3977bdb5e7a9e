import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

/**
 * The folder of Swagger UI's files in the package @fastify/swagger-ui. The package does not document where they are. Checked
 * with @fastify/swagger-ui 6.1.3.
 */
export function swaggerUiFolder(): string {
  const packageFile = createRequire(import.meta.url).resolve('@fastify/swagger-ui/package.json')
  return join(dirname(packageFile), 'static')
}

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { SWAGGER_UI_FILES } from '../../src/http/pages/reference.js'
import { swaggerUiFolder } from '../../src/internals/swagger-ui-folder.js'

test.each(SWAGGER_UI_FILES)('swaggerUiFolder has the file %s', (name) => {
  expect(existsSync(join(swaggerUiFolder(), name))).toBe(true)
})

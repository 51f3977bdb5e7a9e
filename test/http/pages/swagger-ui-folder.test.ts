import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { SWAGGER_UI_FILES, swaggerUiFolder } from '../../../src/http/pages/reference.js'

test.each(SWAGGER_UI_FILES)('swaggerUiFolder has the file %s', (name) => {
  expect(existsSync(join(swaggerUiFolder(), name))).toBe(true)
})

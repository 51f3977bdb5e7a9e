import { type FieldViolation, ServiceError } from '../domain/errors.js'

/** The origins of an instance. */
export interface AudienceRules {
  /** In production no others count. */
  readonly publicUrls: readonly string[]
  readonly production: boolean
}

/**
 * Checks that what a solver signed was meant for this instance.
 * @param origins the origins by which the request reached the instance
 * @param violations what the error says of the field
 * @throws ServiceError AUDIENCE_REJECTED
 */
export function assertAudience(
  audience: string,
  { publicUrls, production }: AudienceRules,
  origins: readonly string[],
  violations: readonly FieldViolation[] = [],
): void {
  const accepted = production ? publicUrls : [...publicUrls, ...origins]
  if (accepted.includes(audience)) return
  const message =
    'The audience must be an origin of this instance (PUBLIC_URLS). It is the one that the solver dials.'
  throw new ServiceError('AUDIENCE_REJECTED', message, { violations })
}

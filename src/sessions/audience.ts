import { ServiceError } from '../domain/errors.js'

/** The origins of an instance. */
export interface AudienceRules {
  /** In production no others count. */
  readonly publicUrls: readonly string[]
  readonly production: boolean
}

/**
 * Checks that what a solver signed was meant for this instance.
 * @param origins the origins by which the request reached the instance
 * @throws ServiceError AUDIENCE_REJECTED
 */
export function assertAudience(
  audience: string,
  { publicUrls, production }: AudienceRules,
  origins: readonly string[],
): void {
  const accepted = production ? publicUrls : [...publicUrls, ...origins]
  if (accepted.includes(audience)) return
  const message =
    'The audience must be an origin of this instance (PUBLIC_URLS). It is the one that the solver dials.'
  const violations = [{ field: 'audience', message: 'must be an origin of this instance' }]
  throw new ServiceError('AUDIENCE_REJECTED', message, { violations })
}

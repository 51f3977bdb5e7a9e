/** Where the service is built for the tests, apart from `dist`, which some of them build themselves. */
export const BUILT = '.test-dist'

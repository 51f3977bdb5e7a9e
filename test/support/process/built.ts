/** Where the service is built for the tests. Some tests build `dist` themselves. */
export const BUILT = '.test-dist'

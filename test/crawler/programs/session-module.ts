/** A session with functions, for workers. */

import { session } from '../../../src/hooks/session/session.js'

export default ({ login, user, password }: { login: string; user: string; password: string }) =>
  session({
    login,
    interval: 100,
    fields: async () => ({ user, password }),
    over: (page) => page.headers.get('location')?.startsWith('/login') === true,
  })

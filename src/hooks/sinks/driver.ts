import { KumoError, messageOf } from '../../errors.js'
import { require } from '../../require.js'

/**
 * Loads a driver that is an optional peer dependency. `load` names the package, so that tools find it.
 *
 * @throws KumoError `KUMO_NOT_INSTALLED` with the command that installs it.
 */
export function loadDriver(sink: string, name: string, load: (load: typeof require) => unknown): unknown {
  try {
    return load(require)
  } catch (cause) {
    const reason = messageOf((cause as Error).cause ?? cause).split('\n', 1)[0]
    const message = `${sink}() needs the package '${name}' (${reason}); install it: npm install ${name}`
    throw new KumoError('KUMO_NOT_INSTALLED', message, { cause })
  }
}

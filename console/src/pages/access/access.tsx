/** Access begins with the keys, or with the tenants for somebody who looks at the whole installation. */

import { useSession, useTenant } from "../../app/session";
import { Loading } from "../../ui/notices";
import Keys from "./keys";
import Tenants from "./tenants";

export default function Access() {
  const session = useSession();
  const [tenant] = useTenant();
  if (!session) return <Loading />;
  return session.is_installation && tenant === null ? <Tenants /> : <Keys />;
}

/** Access begins with the keys, or with the tenants for somebody who looks at the whole installation. */

import { useSession } from "../../app/session";
import { Loading } from "../../ui/notices";
import Keys from "./keys";
import Tenants from "./tenants";

export default function Access() {
  const session = useSession();
  if (!session) return <Loading />;
  return session.is_installation && !session.tenant ? <Tenants /> : <Keys />;
}

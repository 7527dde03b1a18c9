"""
Tables in memory in place of LiteLLM's database, because Prisma downloads its engine from a host of its own.

The rows of the spend log, and the routes that read it, are LiteLLM's.
"""

import json
from datetime import datetime, timezone
from unittest.mock import AsyncMock, MagicMock

from litellm.integrations.custom_logger import CustomLogger
from litellm.proxy import proxy_server
from litellm.proxy._types import (
    LiteLLM_UserTable,
    LiteLLM_VerificationToken,
    UserAPIKeyAuth,
    hash_token,
)
from litellm.proxy.spend_tracking.spend_tracking_utils import get_logging_payload
from pydantic import BaseModel

READERS = ("ann",)


def key(name, **fields):
    return hash_token(name), {"token": hash_token(name), "spend": 0.0, **fields}


KEYS = dict(
    (
        key("sk-reader", spend=0.25, max_budget=10.0, user_id="ann"),
        key("sk-over-budget", spend=2.0, max_budget=1.5),
        key("sk-unlimited", spend=3.5, expires=datetime(2100, 1, 1, tzinfo=timezone.utc)),
        key("sk-expired", expires=datetime(2020, 1, 1, tzinfo=timezone.utc)),
        key("sk-other-models", models=["other"]),
        key("sk-rate-limited", rpm_limit=1),
    )
)


class Row(BaseModel, extra="allow"):
    pass


class Table(MagicMock):
    def __getattr__(self, name):
        return AsyncMock(return_value=[] if name == "find_many" else None)


class SpendLogs(Table):
    rows = []

    async def find_many(self, where, take=None, **_):
        ids = [value for clause in where.get("OR", ()) for value in clause.values()]
        user = where.get("user")
        return [
            Row(**row)
            for row in self.rows
            if {row["request_id"], row["litellm_call_id"]} & set(ids) and user in (None, row["user"])
        ][:take]


class Keys(Table):
    async def find_unique(self, where, **_):
        row = KEYS.get(where["token"])
        return row and LiteLLM_VerificationToken(**row)


class Users(Table):
    async def find_unique(self, where, **_):
        user_id = where["user_id"]
        if user_id not in READERS:
            return None
        return LiteLLM_UserTable(user_id=user_id, user_role="internal_user", max_budget=None, user_email=None)


class Database(MagicMock):
    litellm_spendlogs = SpendLogs()
    litellm_verificationtoken = Keys()
    litellm_usertable = Users()

    def __getattr__(self, name):
        return Table()


class Prisma(MagicMock):
    db = writer_db = reader_db = Database()
    hash_token = staticmethod(hash_token)

    async def get_data(self, token=None, **_):
        row = KEYS.get(token)
        return row and UserAPIKeyAuth(api_key=row["token"], **row)


class Recorder(CustomLogger):
    """Writes the rows that LiteLLM's own writer would."""

    async def record(self, kwargs, response_obj, start_time, end_time):
        row = dict(get_logging_payload(kwargs, response_obj, start_time, end_time))
        row["spend"] = kwargs.get("response_cost") or 0.0
        for name in ("metadata", "request_tags"):
            row[name] = json.loads(row[name])
        SpendLogs.rows.append(row)

    async_log_success_event = record
    async_log_failure_event = record


recorder = Recorder()
proxy_server.prisma_client = Prisma()

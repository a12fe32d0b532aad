"""Simulated providers on loopback that speak the vendors' wire formats, with faults on demand."""

from penstock.simulators.embeddings import EmbeddingsSimulator
from penstock.simulators.faults import Fault, busy
from penstock.simulators.reranking import RerankSimulator
from penstock.simulators.serving import serving
from penstock.simulators.sms_gateway import SentMessage, SmsGatewaySimulator
from penstock.simulators.webhook_receiver import Received, WebhookReceiver

__all__ = [
    "EmbeddingsSimulator",
    "Fault",
    "Received",
    "RerankSimulator",
    "SentMessage",
    "SmsGatewaySimulator",
    "WebhookReceiver",
    "busy",
    "serving",
]
